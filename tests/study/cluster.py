"""A Dask cluster of two worker processes; ends when its standard input does.

Prints the address of the scheduler, and for each line it reads the process ids of the
workers there are.
"""

import json
import os
import sys

from distributed import Client, LocalCluster

if __name__ == "__main__":
    with (
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address=None,
            worker_dashboard_address=None,
        ) as cluster,
        Client(cluster) as client,
    ):
        print(cluster.scheduler_address, flush=True)
        for _ in sys.stdin:
            print(json.dumps(list(client.run(os.getpid).values())), flush=True)
