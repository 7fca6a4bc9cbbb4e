//go:build !race

package main

// raced says that the test's program is not watched for races, and can be a reader.
const raced = false
