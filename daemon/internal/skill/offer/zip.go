package offer

import (
	"archive/zip"
	"bytes"
	"context"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/bothyd/bothy/sdk"
)

// foreignZip is what one system adds to archives beside their files.
const foreignZip = "__MACOSX/"

// unzip takes the files of an archive. The folder that all of them lie in, if there is one, is left out of their
// paths. How large a file is says what is read of it, and not what the archive says.
func (s *source) unzip(ctx context.Context, archive []byte) error {
	z, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		return sdk.Errorf(sdk.Validation, "%.200q cannot be read as a zip archive: %w", s.at, err)
	}
	if len(z.File) > mostNames {
		return sdk.Errorf(sdk.Validation, "%.200q is no skill: it holds more than %d names", s.at, mostNames)
	}
	for _, f := range z.File {
		if strings.HasPrefix(f.Name, foreignZip) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := s.unzipOne(f); err != nil {
			return err
		}
	}
	s.unwrap()
	return nil
}

// unzipOne takes one file.
func (s *source) unzipOne(f *zip.File) error {
	name, mode := strings.TrimSuffix(f.Name, "/"), f.Mode()
	switch {
	case strings.ContainsAny(name, "\\\x00"), !filepath.IsLocal(name), filepath.ToSlash(filepath.Clean(name)) != name:
		return sdk.Errorf(sdk.Validation, "%.200q has a file that would lie elsewhere than in the skill's folder: %.200q", s.at, f.Name)
	case mode.IsDir() && name != f.Name:
		return nil // a folder is there when a file in it is
	case !mode.IsRegular() || name != f.Name:
		return sdk.Errorf(sdk.Validation, "%.200q in %.200q is no file but %s: put the file itself in its place", name, s.at, fs.FileMode.String(mode.Type()))
	case f.Flags&1 != 0:
		return sdk.Errorf(sdk.Validation, "%.200q in %.200q is encrypted, so that nobody can look at it", name, s.at)
	}
	content, err := f.Open()
	if err != nil {
		return sdk.Errorf(sdk.Validation, "%.200q in %.200q cannot be read: %w", name, s.at, err)
	}
	defer func() { _ = content.Close() }() // its checksum is checked at its end
	return s.add(name, mode.Perm()&0o111 != 0, content)
}

// unwrap leaves out of the paths the one folder that all files lie in, when the skill is that.
func (s *source) unwrap() {
	if len(s.parts) == 0 {
		return
	}
	folder, _, in := strings.Cut(s.parts[0].path, "/")
	for _, p := range s.parts {
		in = in && strings.HasPrefix(p.path, folder+"/")
	}
	if !in {
		return
	}
	s.name = folder
	for i := range s.parts {
		s.parts[i].path = strings.TrimPrefix(s.parts[i].path, folder+"/")
	}
}
