//go:build !linux

package main

import "errors"

// run has nothing to offer where there are no Linux containers.
func run() error {
	return errors.New("makes overlays for Linux containers; there is nothing to start here")
}
