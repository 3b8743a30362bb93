# Says what the installed git-wave says.
git-wave completion fish | source
