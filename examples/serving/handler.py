"""Handle events of a function service, such as AWS Lambda with a function URL.

Zip it with the model, NumPy and quorate; the entry point is ``handler.handler``.
"""

import json
import os

import numpy as np

from quorate import serving

MODEL = serving.load(os.environ.get("MODEL", "model.quorate"))  # at cold start


def handler(event, context):
    """Return labels, or an error message about the rows."""
    try:
        rows = np.array(json.loads(event["body"])["rows"], dtype=float)
        status, answer = 200, {"labels": MODEL.predict(rows).tolist()}
    except (KeyError, TypeError, ValueError) as error:
        status, answer = 400, {"error": f"{type(error).__name__}: {error}"}
    return {"statusCode": status, "body": json.dumps(answer)}
