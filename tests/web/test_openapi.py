"""The description of the API: held against the running service, by tests that are made from it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from running_service import BRIDGE, Service

from everyclaim.io.fields import SAMPLE_FIELDS

CONFORMS = (
    "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance,"
    "response_headers_conformance,missing_required_header,unsupported_method"
)
ACCEPTS = "positive_data_acceptance"


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    one = Service(tmp_path_factory.mktemp("openapi"))
    yield one
    one.kill()


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [
        ["--checks", CONFORMS, "--max-examples", "10"],
        # A key for a job may have come before with another one.
        ["--checks", ACCEPTS, "--max-examples", "25", "--phases", "fuzzing", "--exclude-path", "/v1/jobs"],
    ],
    ids=["conforms", "accepts"],
)
def test_the_service_is_as_it_is_described(service, options):
    """Requests made from the description, right and wrong, alone and in a row: no 5xx, and no answer but those described."""
    command = [str(Path(sys.executable).with_name("schemathesis")), "run", f"{service.address}/openapi.json"]
    quietly = ["--seed", "1", "--suppress-health-check", "all", "--no-color"]
    found = subprocess.run(
        [*command, *options, *quietly], check=False, capture_output=True, text=True, timeout=500, cwd=service.folder
    )
    assert found.returncode == 0, found.stdout[-6000:]
    assert not [row for row in service.log() if row.get("status", 0) >= 500]


def test_the_description_has_everything(service):
    """Every route is described with its problems, and a request with the fields of a file and no others."""
    document = service.ask("GET", "/openapi.json").json
    score = document["paths"]["/v1/score"]["post"]
    schema = score["requestBody"]["content"]["application/json"]["schema"]
    assert set(schema["properties"]) == set(SAMPLE_FIELDS)
    assert schema["additionalProperties"] is False
    assert all(name in schema["properties"]["response"]["description"] for name in SAMPLE_FIELDS["response"][1:])
    assert {"200", "400", "401", "413", "422", "429", "504"} <= set(score["responses"])
    names = [operation["operationId"] for path in document["paths"].values() for operation in path.values()]
    assert sorted(names) == sorted(set(names))
    assert {"score", "verify", "claims", "guard", "submit", "results", "cancel", "health", "ready"} <= set(names)


def test_a_wrong_method_is_told_all_right_ones(service):
    """An address with two methods names both."""
    answer = service.ask("PUT", "/v1/jobs", BRIDGE)
    assert (answer.status, answer.headers["allow"]) == (405, "GET, POST")
