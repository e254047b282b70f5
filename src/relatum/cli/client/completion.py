"""`relatum completion`: scripts that let a shell complete verbs, options and words."""

from __future__ import annotations

import click

VARIABLE = "_RELATUM_COMPLETE"


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print a script for SHELL that completes verbs, options, kinds, verdicts and profiles. Asks no server.

    \b
    Examples:
        eval "$(relatum completion bash)"
        relatum completion fish > ~/.config/fish/completions/relatum.fish
    """
    from click.shell_completion import get_completion_class

    found = get_completion_class(shell)
    assert found is not None, "click knows these three"
    script = found(context.find_root().command, {}, "relatum", VARIABLE)
    click.echo(script.source_template % script.source_vars())
