"""What `everyclaim.toml` and variables set, as the command line shows it."""


def test_slices_of_a_project_are_for_the_files_that_have_them(everyclaim, desk):
    """A file without the field is scored, with a warning; a slice of the command line must be there."""
    (desk / "everyclaim.toml").write_text('slices = ["domain"]')
    done = everyclaim("score", "answers.jsonl")
    assert done.code == 0
    assert "no answer has a tag 'domain'" in done.err
    assert everyclaim("score", "answers.jsonl", "--slice", "domain").code == 2
