"""The least that a cold question costs: import onnxruntime, open the model, run it once. For bench/speed.py."""

from __future__ import annotations

import os
import sys


def main() -> None:
    """One run, with the options of memcli, or with `--defaults` of onnxruntime."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    import numpy as np
    import onnxruntime

    options = onnxruntime.SessionOptions()
    if "--defaults" not in sys.argv:
        options.intra_op_num_threads = 1
        options.enable_cpu_mem_arena = False
        options.execution_order = onnxruntime.ExecutionOrder.PRIORITY_BASED
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.add_session_config_entry("session.disable_quant_qdq", "1")
        options.add_session_config_entry("session.disable_prepacking", "1")
    session = onnxruntime.InferenceSession(_model(), options, providers=["CPUExecutionProvider"])
    ids = np.array([[101, 2029, 7809, 2079, 2057, 2224, 1029, 102]], np.int64)
    session.run(None, {"input_ids": ids, "attention_mask": np.ones_like(ids)})


def _model() -> str:
    """The model's file, found without importing memcli."""
    from importlib.util import find_spec

    found = find_spec("memcli")
    folder = os.path.dirname(found.origin or "") if found else ""
    return os.path.join(folder, "embed", "minilm.onnx")


if __name__ == "__main__":
    main()
