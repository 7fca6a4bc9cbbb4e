//go:build !linux

package main

import "errors"

// run has nothing to offer where there are no Linux containers.
func run(string) error {
	return errors.New("runs only inside a Linux container; there is nothing to start by hand here")
}
