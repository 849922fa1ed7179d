int tunesmith_test_function_of_nobody() { return 1; }
