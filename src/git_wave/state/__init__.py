"""Files: our own under the common directory, the manifest, and what is carried to safety."""
