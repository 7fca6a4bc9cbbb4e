//go:build !linux

package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "bothy-runner: runs only inside a Linux container; there is nothing to start by hand here")
	os.Exit(2)
}
