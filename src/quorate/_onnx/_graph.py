"""Nodes and constants of an ONNX graph."""

from typing import Any

import numpy as np

from quorate._typing import Array

# Versions of operators outside the core of ONNX that onnxruntime has long known.
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
        name = output or self.scope.get_unique_variable_name(kind.lower())
        if kind in _ML_OPERATORS:
            attributes |= {"op_domain": "ai.onnx.ml", "op_version": _ML_OPERATORS[kind]}
        self.container.add_node(
            kind,
            list(inputs),
            [name],
            name=self.scope.get_unique_operator_name(kind),
            **attributes,
        )
        return name

    def constant(self, values: Any) -> str:
        """Add a constant array and return its name."""
        from onnx import TensorProto, numpy_helper

        name: str = self.scope.get_unique_variable_name("constant")
        array = np.asarray(values)
        if array.dtype.kind == "O":
            texts = [text.encode() for text in array.tolist()]
            self.container.add_initializer(
                name, TensorProto.STRING, list(array.shape), texts
            )
        else:
            tensor = numpy_helper.from_array(array, name)
            self.container.add_initializer(name, None, None, tensor)
        return name

    def cast(self, x: str, dtype: Any, output: str | None = None) -> str:
        """Add a conversion to another type of number."""
        from onnx import helper

        number = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
        return self.add("Cast", x, output=output, to=number)

    def step(self, kind: str, x: str, values: Array) -> str:
        """Compute in the type of the values and keep 32-bit floats, as NumPy does."""
        result = self.add(kind, self.cast(x, values.dtype), self.constant(values))
        return self.cast(result, np.float32)

    def sum(self, parts: list[str]) -> str:
        """Add up, from the first to the last."""
        total = parts[0]
        for part in parts[1:]:
            total = self.add("Add", total, part)
        return total

    def columns(self, x: str, n_columns: int) -> list[str]:
        """Take a matrix apart into its columns."""
        if n_columns == 1:
            return [x]
        names = [
            self.scope.get_unique_variable_name("column") for _ in range(n_columns)
        ]
        self.container.add_node(
            "Split",
            [x, self.constant(np.ones(n_columns, dtype=np.int64))],
            names,
            name=self.scope.get_unique_operator_name("Split"),
            axis=1,
        )
        return names

    def floats(self, n_columns: int | None) -> Any:
        """Declare a matrix of 32-bit floats."""
        from skl2onnx.common.data_types import FloatTensorType

        return self.scope.declare_local_variable(
            "floats", FloatTensorType([None, n_columns])
        )

    def as_floats(self, inputs: Any) -> Any:
        """Return the one input as a matrix of 32-bit floats, which trees compare."""
        from skl2onnx.common.data_types import FloatTensorType

        if len(inputs) != 1:
            raise ValueError(f"one matrix as input, got {len(inputs)} inputs")
        if isinstance(inputs[0].type, FloatTensorType):
            return inputs[0]
        x = self.floats(None)
        self.cast(inputs[0].full_name, np.float32, output=x.full_name)
        return x
