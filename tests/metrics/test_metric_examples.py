"""The examples in the metrics' docstrings run and say the truth."""

import doctest
import importlib
import pkgutil

import pytest

import everyclaim.metrics

MODULES = [module.name for module in pkgutil.iter_modules(everyclaim.metrics.__path__)]


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_metric_run(name):
    """What a docstring promises is what comes out."""
    assert doctest.testmod(importlib.import_module(f"everyclaim.metrics.{name}")).failed == 0
