"""What is no module of tests here."""

collect_ignore_glob = ["architectures/*"]  # a test runs them
