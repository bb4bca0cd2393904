"""A cell of many servers on MariaDB: what grows with it, and what does not."""
