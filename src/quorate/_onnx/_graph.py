"""Nodes and constants of an ONNX graph."""

from typing import Any

import numpy as np

from quorate._typing import Array

# Versions of operators outside the ONNX core, long supported by onnxruntime.
_ML_OPERATORS = {"TreeEnsembleRegressor": 1, "LabelEncoder": 2}


class Graph:
    """Adds nodes and constants to the graph that skl2onnx builds."""

    def __init__(self, scope: Any, container: Any):
        self.scope = scope
        self.container = container

    def add(
        self, kind: str, *inputs: str, output: str | None = None, **attributes: Any
    ) -> str:
        """Add a node and return the name of its output."""
        name = output or self.new_name(kind)
        self._put(kind, list(inputs), [name], attributes)
        return name

    def lead(self, x: str) -> str:
        """Add the difference of the two largest values of each row."""
        two = self.constant(np.array([2], dtype=np.int64))
        values, places = self.new_name("values"), self.new_name("places")
        self._put("TopK", [x, two], [values, places], {"axis": 1})
        difference = self.constant(np.array([[1], [-1]], dtype=np.float32))
        return self.add("MatMul", values, difference)

    def new_name(self, kind: str) -> str:
        """Return an unused name for a result."""
        name: str = self.scope.get_unique_variable_name(kind.lower())
        return name

    def _put(
        self, kind: str, inputs: list[str], outputs: list[str], attributes: Any
    ) -> None:
        if kind in _ML_OPERATORS:
            attributes = {
                **attributes,
                "op_domain": "ai.onnx.ml",
                "op_version": _ML_OPERATORS[kind],
            }
        name = self.scope.get_unique_operator_name(kind)
        self.container.add_node(kind, inputs, outputs, name=name, **attributes)

    def constant(self, values: Any) -> str:
        """Add a constant array and return its name."""
        from onnx import TensorProto, helper, numpy_helper

        name = self.new_name("constant")
        array = np.asarray(values)
        if array.dtype.kind == "O":
            texts = [text.encode() for text in array.tolist()]
            shape = list(array.shape)
            tensor = helper.make_tensor(name, TensorProto.STRING, shape, texts)
        else:
            tensor = numpy_helper.from_array(array, name)
        self._keep(tensor)
        return name

    def _keep(self, tensor: Any) -> None:
        if tensor.string_data:
            shape, texts = list(tensor.dims), list(tensor.string_data)
            self.container.add_initializer(tensor.name, tensor.data_type, shape, texts)
        else:
            self.container.add_initializer(tensor.name, None, None, tensor)

    def fork(self, test: str, yes: "Branch", no: "Branch", outputs: list[str]) -> None:
        """Add a conditional; both branches have the same number of results."""
        # Branches use the requested operator version.
        newest = self.container.target_opset_any_domain("")
        self.container.node_domain_version_pair_sets.add(("", newest))
        branches = {"then_branch": yes.made(), "else_branch": no.made()}
        self._put("If", [test], outputs, branches)

    def cast(self, x: str, dtype: Any, output: str | None = None) -> str:
        """Add a cast to another numeric type."""
        from onnx import helper

        number = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
        return self.add("Cast", x, output=output, to=number)

    def step(self, kind: str, x: str, values: Array) -> str:
        """Compute in the type of the values and round to float32, as NumPy does."""
        result = self.add(kind, self.cast(x, values.dtype), self.constant(values))
        return self.cast(result, np.float32)

    def split(self, x: str, widths: list[int]) -> list[str]:
        """Split a matrix into parts of this many columns."""
        if len(widths) == 1:
            return [x]
        names = [self.new_name("columns") for _ in widths]
        sizes = self.constant(np.array(widths, dtype=np.int64))
        self._put("Split", [x, sizes], names, {"axis": 1})
        return names

    def floats(self, n_columns: int | None) -> Any:
        """Declare a matrix of 32-bit floats."""
        from skl2onnx.common.data_types import FloatTensorType

        return self.scope.declare_local_variable(
            "floats", FloatTensorType([None, n_columns])
        )

    def as_floats(self, inputs: Any) -> Any:
        """Return the single input as a float32 matrix, as trees expect."""
        from skl2onnx.common.data_types import FloatTensorType

        if len(inputs) != 1:
            raise ValueError(f"expected one matrix as input, got {len(inputs)} inputs")
        if isinstance(inputs[0].type, FloatTensorType):
            return inputs[0]
        x = self.floats(None)
        self.cast(inputs[0].full_name, np.float32, output=x.full_name)
        return x


class Branch(Graph):
    """Nodes and constants of a subgraph."""

    def __init__(self, scope: Any, container: Any):
        super().__init__(scope, container)
        self.nodes: list[Any] = []
        self.tensors: list[Any] = []
        self.results: list[Any] = []

    def result(self, kind: str, *inputs: str) -> None:
        """Add a node whose output is a result of the branch, in order of calls."""
        from onnx import ValueInfoProto

        self.results.append(ValueInfoProto(name=self.add(kind, *inputs)))

    def made(self) -> Any:
        """Return the branch as a graph."""
        from onnx import helper

        name = self.new_name("branch")
        return helper.make_graph(self.nodes, name, [], self.results, self.tensors)

    def _put(
        self, kind: str, inputs: list[str], outputs: list[str], attributes: Any
    ) -> None:
        from onnx import helper

        name = self.scope.get_unique_operator_name(kind)
        domain = "ai.onnx.ml" if kind in _ML_OPERATORS else ""
        self.nodes.append(
            helper.make_node(
                kind, inputs, outputs, name=name, domain=domain, **attributes
            )
        )

    def _keep(self, tensor: Any) -> None:
        self.tensors.append(tensor)
