package store

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bothyd/bothy/sdk"
)

// parsePath checks a path and returns it in the form it is stored in, with its
// scheme. A scheme is lower case in that form (RFC 3986, 3.1), so that
// KNOWN://a and known://a are one entry; the rest is kept byte for byte.
func parsePath(path string) (canonical, scheme string, err error) {
	switch {
	case path == "":
		return "", "", sdk.Errorf(sdk.Validation, "an entry needs a path")
	case len(path) > sdk.MaxPath:
		return "", "", sdk.Errorf(sdk.Validation, "a path may have %d bytes, and this one has %d: %.60q...", sdk.MaxPath, len(path), path)
	case !utf8.ValidString(path):
		return "", "", sdk.Errorf(sdk.Validation, "a path must be valid UTF-8: %.80q", path)
	case strings.ContainsFunc(path, unicode.IsControl):
		return "", "", sdk.Errorf(sdk.Validation, "a path may not contain control characters: %.80q", path)
	}
	i := strings.Index(path, "://")
	if i <= 0 {
		return path, "file", nil
	}
	scheme = path[:i]
	if lower := strings.ToLower(scheme); lower != scheme {
		scheme = lower
		path = lower + path[i:]
	}
	if err := checkSchemeName(scheme); err != nil {
		return "", "", err
	}
	if len(path) == i+len("://") {
		return "", "", sdk.Errorf(sdk.Validation, "the path %q names nothing: something must follow the scheme", path)
	}
	return path, scheme, nil
}

// checkSchemeName holds a scheme's name to RFC 3986, 3.1, in lower case.
func checkSchemeName(name string) error {
	ok := name != "" && len(name) <= 64 && 'a' <= name[0] && name[0] <= 'z'
	for i := 0; ok && i < len(name); i++ {
		c := name[i]
		ok = 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '+' || c == '-' || c == '.' || c == '_'
	}
	if !ok {
		return sdk.Errorf(sdk.Validation, "%.80q is no name for a scheme: it takes a letter, then up to 63 of a-z 0-9 + - . _", name)
	}
	return nil
}
