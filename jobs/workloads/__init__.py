"""The list of workloads and the page of one."""
