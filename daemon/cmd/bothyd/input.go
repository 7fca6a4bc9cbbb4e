package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/bothyd/bothy/sdk"
)

// longestText is the most that is read of one text.
const longestText = 64 << 20

// standardInput reads a text that is given there.
func standardInput(c *console, what string) (string, error) {
	return readText(c.in, what+" from standard input")
}

// readText reads a whole text, which an error calls what.
func readText(from io.Reader, what string) (string, error) {
	text, err := io.ReadAll(io.LimitReader(from, longestText+1))
	var at *fs.PathError
	if errors.As(err, &at) {
		err = at.Err // what is read is named already
	}
	if err != nil {
		return "", fmt.Errorf("read %s: %w", what, err)
	}
	if len(text) > longestText {
		return "", sdk.Errorf(sdk.Validation, "%s has more than %d MiB", what, longestText>>20)
	}
	return string(text), nil
}
