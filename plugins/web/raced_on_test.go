//go:build race

package main

// raced says that the test's program is watched for races, which takes more memory and more calls of the system than a
// reader has.
const raced = true
