package main

import (
	"fmt"
	"os"
)

func main() {
	if len(os.Args) != 1 {
		fmt.Fprintln(os.Stderr, "usage: bothy-view (started by the sandbox; it reads requests from standard input)")
		os.Exit(2)
	}
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "bothy-view:", err)
		os.Exit(1)
	}
}
