"""What the tests share: a sealed environment, real repositories and a `git` that can be told to misbehave."""
