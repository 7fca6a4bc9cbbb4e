package main

import (
	"strings"

	"github.com/bothyd/bothy/sdk/fact"
)

// hidden stands where the daemon took a secret out of a text.
const hidden = "[secret]"

// hasSecret reports whether a secret stood in a fact before the daemon took it out.
func hasSecret(f fact.Fact) bool {
	return strings.Contains(f.Key, hidden) || strings.Contains(f.Value, hidden) || strings.Contains(f.Quote, hidden)
}
