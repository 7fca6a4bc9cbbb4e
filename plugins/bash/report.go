package main

import (
	"cmp"
	"io"
	"io/fs"
	"os"

	"github.com/bothyd/bothy/plugins/bash/suite"
	"github.com/bothyd/bothy/sdk"
)

// mostReport is how large a report may be.
const mostReport = 64 << 20

// report is the file in which the tests of a project say what they came to; without a path there is none.
type report struct{ workspace, path string }

func (b *bash) reportOf(call sdk.Invocation) report {
	return report{b.runSpec(call.Run, call.Project, call.RunDir).Workspace(), b.sandbox(call.Project).Tests.JUnit}
}

// open opens it, wherever links in the workspace lead, and never outside.
func (r report) open() (*os.File, error) {
	root, err := os.OpenRoot(r.workspace)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }() // it was only read
	if info, err := root.Stat(r.path); err != nil || !info.Mode().IsRegular() {
		return nil, cmp.Or(err, fs.ErrInvalid)
	}
	return root.Open(r.path)
}

// look is the file as it is now; nil when there is none.
func (r report) look() fs.FileInfo {
	if r.path == "" {
		return nil
	}
	f, err := r.open()
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }() // it was only read
	info, err := f.Stat()
	if err != nil {
		return nil
	}
	return info
}

func (r report) read() (suite.Count, error) {
	f, err := r.open()
	if err != nil {
		return suite.Count{}, err
	}
	defer func() { _ = f.Close() }() // it was only read
	return suite.JUnit(io.LimitReader(f, mostReport))
}
