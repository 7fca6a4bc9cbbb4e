package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/bothyd/bothy/sdk"
)

// schema reads the JSON Schema of a result from a file; without one there is none. The daemon checks it.
func (c *console) schema(file string) (json.RawMessage, error) {
	if file == "" {
		return nil, nil
	}
	f, err := os.Open(c.path(file))
	if err != nil {
		return nil, usageError{fmt.Sprintf("the schema cannot be read: %v", err)}
	}
	defer func() { _ = f.Close() }() // it was only read
	text, err := io.ReadAll(io.LimitReader(f, sdk.MaxSchema+1))
	switch {
	case err != nil:
		return nil, usageError{fmt.Sprintf("the schema cannot be read: %v", err)}
	case len(text) > sdk.MaxSchema:
		return nil, usageError{fmt.Sprintf("the schema %s has more than %d bytes", file, sdk.MaxSchema)}
	case !json.Valid(text):
		return nil, usageError{fmt.Sprintf("the schema %s is no JSON", file)}
	}
	return text, nil
}
