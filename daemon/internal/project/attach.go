package project

import (
	"bufio"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/picture"
	"github.com/bothyd/bothy/sdk/protect"
	"github.com/bothyd/bothy/sdk/rpc"
)

const (
	maxAttached = 256 << 10 // bytes of a file that one prompt gets
	maxSearched = 64 << 20  // bytes of a file that are read for a range of it
)

// Read reads a file of a project, or a range of its lines. A link is followed within
// the project; what holds secrets by its name, or where a link leads to such, is refused.
func (Files) Read(_ context.Context, p rpc.FileParams) (rpc.FileText, error) {
	root, where, err := openFiles(p.Project)
	if err != nil {
		return rpc.FileText{}, err
	}
	defer func() { _ = root.Close() }() // it was only read
	text, medium, err := readFile(root, where, sdk.Attachment{Path: p.Path, From: p.From, To: p.To})
	if medium != nil {
		brief := medium.Brief()
		text.Medium = &brief
	}
	return text, err
}

// Attached is what a model reads of the files that a person attached to a prompt, and those
// that are pictures. One that cannot be read, and the lot when it is too long, is an error.
func (Files) Attached(_ context.Context, project string, files []sdk.Attachment) (string, []sdk.Medium, error) {
	root, where, err := openFiles(project)
	if err != nil {
		return "", nil, err
	}
	defer func() { _ = root.Close() }() // it was only read
	var all strings.Builder
	var media []sdk.Medium
	pictures := 0 // bytes of their data: nobody has the lot read that no prompt takes
	for _, a := range files {
		f, medium, err := readFile(root, where, a)
		if err != nil {
			return "", nil, err
		}
		if medium != nil {
			fmt.Fprintf(&all, "The person attached the picture %s.\n\n", f.Path)
			media = append(media, *medium)
			if pictures += len(medium.Data); pictures > sdk.MaxMediaBytes {
				return "", nil, sdk.Errorf(sdk.Overflow, "the attached pictures are more than %d KiB together: make them smaller, or attach fewer", sdk.MaxMediaBytes/4*3>>10)
			}
			continue
		}
		fence := "```"
		for strings.Contains(f.Text, fence) {
			fence += "`"
		}
		fmt.Fprintf(&all, "The person attached %s, lines %d to %d of %s:\n%s\n%s\n%s\n\n", f.Path, f.From, f.To, ofLines(f), fence, strings.TrimSuffix(f.Text, "\n"), fence)
		if all.Len() > 2*maxAttached {
			return "", nil, sdk.Errorf(sdk.Overflow, "the attached files are more than %d KiB; attach ranges of lines, or leave them to the agent to read", 2*maxAttached>>10)
		}
	}
	return strings.TrimSpace(all.String()), media, nil
}

// place is where a path of a project leads, links resolved, for reading.
func place(where, named string) (string, error) {
	at := path.Clean(filepath.ToSlash(named))
	if named == "" || strings.ContainsRune(named, 0) || !filepath.IsLocal(at) || at == "." {
		return "", sdk.Errorf(sdk.Validation, "%q names no file of the project: write its path from the project's folder on", named)
	}
	if protect.Secret(at) {
		return "", refusedSecret(named)
	}
	real, err := filepath.EvalSymlinks(filepath.Join(where, at))
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return "", sdk.Errorf(sdk.NotFound, "the project has no file %s", named)
	case err != nil:
		return "", sdk.Errorf(sdk.Permission, "%s cannot be read: %w", named, err)
	}
	led, err := filepath.Rel(where, real)
	switch {
	case err != nil || !filepath.IsLocal(led):
		return "", sdk.Errorf(sdk.Permission, "%s leads out of the project", named)
	case protect.Secret(led):
		return "", refusedSecret(named)
	}
	return led, nil
}

func refusedSecret(named string) error {
	return sdk.Errorf(sdk.Permission, "%s may hold secrets by its name, and is not read into a prompt", named)
}

// readFile reads a file, or lines of it, as a text or as a picture.
func readFile(root *os.Root, where string, a sdk.Attachment) (rpc.FileText, *sdk.Medium, error) {
	if a.From < 0 || a.To < 0 || a.To != 0 && a.To < a.From {
		return rpc.FileText{}, nil, sdk.Errorf(sdk.Validation, "lines %d to %d of %s make no sense: they count from 1", a.From, a.To, a.Path)
	}
	at, err := place(where, a.Path)
	if err != nil {
		return rpc.FileText{}, nil, err
	}
	f, err := openPlain(root, at)
	if err != nil {
		return rpc.FileText{}, nil, sdk.Errorf(sdk.Permission, "%s cannot be read: %s", a.Path, reason(err))
	}
	defer func() { _ = f.Close() }() // it was only read
	in := bufio.NewReader(f)
	if begin, err := in.Peek(picture.Begin); err == nil && a.From == 0 && a.To == 0 && picture.Looks(begin) {
		m, err := readPicture(in, a.Path)
		return rpc.FileText{Path: path.Clean(a.Path)}, m, err
	}
	text, err := readLines(in, a)
	return text, nil, err
}

func readPicture(in io.Reader, named string) (*sdk.Medium, error) {
	data, err := io.ReadAll(io.LimitReader(in, sdk.MaxMedium))
	if err != nil {
		return nil, sdk.Errorf(sdk.Unavailable, "read %s: %w", named, err)
	}
	if base64.StdEncoding.EncodedLen(len(data)) > sdk.MaxMedium {
		return nil, sdk.Errorf(sdk.Overflow, "the picture %s is too large: a prompt takes one of %d KiB; `bothy run --image` makes it smaller", named, sdk.MaxMedium/4*3>>10)
	}
	m, err := picture.Of(data)
	if err != nil {
		return nil, sdk.Errorf(sdk.Validation, "%s %w", named, err)
	}
	return &m, nil
}

// openPlain opens a regular file, and no link that was put in its place since.
func openPlain(root *os.Root, at string) (*os.File, error) {
	dir, base, err := enter(root, at)
	if err == nil && dir == nil {
		err = fs.ErrNotExist
	}
	if err != nil {
		return nil, err
	}
	defer leave(root, dir)
	info, err := dir.Lstat(base)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is no regular file")
	}
	return (&node{info: info}).open(dir, base)
}

func readLines(f io.Reader, a sdk.Attachment) (rpc.FileText, error) {
	from := max(a.From, 1)
	answer := rpc.FileText{Path: path.Clean(a.Path), From: from, To: from - 1}
	in, text := bufio.NewReader(io.LimitReader(f, maxSearched)), strings.Builder{}
	for {
		line, err := in.ReadSlice('\n')
		if len(line) > 0 {
			if strings.ContainsRune(string(line), 0) {
				return rpc.FileText{}, sdk.Errorf(sdk.Validation, "%s is no text", a.Path)
			}
			n := answer.Lines + 1
			if n >= from && (a.To == 0 || n <= a.To) {
				if room := maxAttached - text.Len(); len(line) > room {
					line, answer.Cut = line[:max(room, 0)], true
				}
				if text.Write(line); len(line) > 0 {
					answer.To = n
				}
			}
			if err == nil || errors.Is(err, io.EOF) {
				answer.Lines++
			}
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull), err == nil:
		case errors.Is(err, io.EOF):
			return finished(answer, text.String(), a)
		default:
			return rpc.FileText{}, sdk.Errorf(sdk.Unavailable, "read %s: %w", a.Path, err)
		}
	}
}

// finished is what was read, when it is a text and has those lines.
func finished(answer rpc.FileText, text string, a sdk.Attachment) (rpc.FileText, error) {
	for answer.Cut && len(text) > 0 && !utf8.ValidString(text[len(text)-min(len(text), utf8.UTFMax):]) {
		text = text[:len(text)-1] // the cut is within a character
	}
	switch {
	case !utf8.ValidString(text):
		return rpc.FileText{}, sdk.Errorf(sdk.Validation, "%s is no text", a.Path)
	case a.From > max(answer.Lines, 1):
		return rpc.FileText{}, sdk.Errorf(sdk.Validation, "%s has %d lines, and line %d was asked for", a.Path, answer.Lines, a.From)
	}
	answer.Text = text
	return answer, nil
}

func ofLines(f rpc.FileText) string {
	if f.Cut {
		return fmt.Sprintf("%d, of which the end was left out here and can be read as a file", f.Lines)
	}
	return fmt.Sprint(f.Lines)
}
