"""Rules of a shim that begin to count in the middle of a wave: when a hook puts them in force."""

from collections.abc import Callable

from support.shim import Shim


def armed(shim: Shim, rules: Callable[[Shim], None]) -> str:
    """A line of shell that, once run, has the shim follow these rules; until then it follows none."""
    script, ready, draft = shim.state / "bin/git", shim.state / "armed", shim.state / "arming"
    rules(shim)
    ready.write_bytes(script.read_bytes())
    ready.chmod(0o755)
    shim.rules.clear()
    shim.install()
    return f"cp -p {ready} {draft} && mv {draft} {script}"
