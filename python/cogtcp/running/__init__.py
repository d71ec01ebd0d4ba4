"""Many runs: in parallel, resumed, compared, swept."""
