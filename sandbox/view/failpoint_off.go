//go:build !failpoints

package main

// hit is a moment at which a kill must lose nothing. Only a build with the tag
// failpoints does something there.
func hit() {}
