package main

import (
	"context"
	"errors"
	"io/fs"
	"strconv"
	"strings"
	"syscall"
	"unicode"

	"github.com/bothyd/bothy/sdk"
)

// fault gives what the operating system said an outcome and a sentence. An
// error that has an outcome already stays as it is.
func fault(action, name string, err error) error {
	var known *sdk.Error
	if errors.As(err, &known) {
		return known
	}
	at := shown(name)
	switch {
	case escapes(err):
		return sdk.Errorf(sdk.Permission, "%s leads outside the project; only files inside it can be used: %w", at, err)
	case errors.Is(err, context.DeadlineExceeded):
		return &sdk.Error{Outcome: sdk.Timeout, Message: "ran out of time while trying to " + action + " " + at, Cause: err}
	case errors.Is(err, context.Canceled):
		return &sdk.Error{Outcome: sdk.Aborted, Message: "stopped while trying to " + action + " " + at, Cause: err}
	case errors.Is(err, fs.ErrNotExist):
		return &sdk.Error{Outcome: sdk.NotFound, Message: at + " does not exist; list_files shows what does", Cause: err}
	case errors.Is(err, syscall.ENOTEMPTY):
		return sdk.Errorf(sdk.Conflict, "%s is not empty: %w", at, root(err))
	case errors.Is(err, fs.ErrExist):
		return sdk.Errorf(sdk.Conflict, "%s exists already: %w", at, root(err))
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return sdk.Errorf(sdk.Permission, "the system does not allow to %s %s: %w", action, at, root(err))
	case errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.EISDIR), errors.Is(err, syscall.ELOOP),
		errors.Is(err, syscall.ENAMETOOLONG), errors.Is(err, syscall.ENXIO):
		return sdk.Errorf(sdk.Validation, "cannot %s %s: %w", action, at, root(err))
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return sdk.Errorf(sdk.Internal, "cannot %s %s, there is no space left on its disk; free some and try again: %w", action, at, root(err))
	}
	return sdk.Errorf(sdk.Internal, "cannot %s %s: %w", action, at, root(err))
}

// escapes tells whether os.Root refused a path because it leaves the root. The
// standard library gives that error no name to ask for. Paths are followed link
// by link before, so only a link swapped in meanwhile gets this far.
func escapes(err error) bool {
	var at *fs.PathError
	return errors.As(err, &at) && at.Err.Error() == "path escapes from parent"
}

// root returns what the system said without the names of calls and temporary
// files around it.
func root(err error) error {
	var number syscall.Errno
	if errors.As(err, &number) {
		return number
	}
	return err
}

// shown writes a path for people and models: as it is, or quoted when it is not
// UTF-8 or holds characters that do not show as themselves, such as those that
// turn the direction of a text.
func shown(name string) string {
	if strings.ContainsFunc(name, hides) || strings.ToValidUTF8(name, "") != name {
		return strconv.Quote(name)
	}
	return name
}

// hides reports whether a character controls something, or is a separator of
// lines. The two joiners, which scripts and emoji need, move nothing.
func hides(r rune) bool {
	const nonJoiner, joiner = '\u200c', '\u200d'
	return r != nonJoiner && r != joiner && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
}
