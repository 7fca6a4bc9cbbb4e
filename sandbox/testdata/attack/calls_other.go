//go:build linux && !amd64

package main

// machineCalls are those that only this machine has.
func machineCalls(func(name string, nr uintptr, args ...uintptr) call) []call { return nil }
