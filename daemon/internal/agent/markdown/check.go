package markdown

import (
	"cmp"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/daemon/internal/frontmatter"
	"github.com/bothyd/bothy/daemon/internal/places"
	"github.com/bothyd/bothy/sdk"
)

// Read reads one file, whatever it is called: for a person who is working on it. A link that is named
// is followed.
func Read(path string) *File {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return unread(path, frontmatter.Unopened(err))
	}
	text, fault := frontmatter.Open(real, MaxFile)
	if fault != nil {
		return unread(path, fault)
	}
	return Parse(text, path)
}

// Look is what the folders of a configuration and a project hold now, in the order in which they
// count, for who asks once and follows nothing. Without a project it is the user's.
func Look(cfg *config.Config, project string) (files []*File, problems []string) {
	s := settingsOf(cfg)
	folders := s.user
	if project != "" {
		home, _ := os.UserHomeDir() // without one, nothing is above it
		folders = slices.Concat(folders, places.Workspace(sdk.WithoutLinks(project), sdk.WithoutLinks(home), s.workspace, s.user))
	}
	for _, f := range folders {
		x := index{at: f}
		x.look()
		for _, file := range x.files {
			files = append(files, file.checked(cfg))
		}
		if x.problem != "" {
			problems = append(problems, x.problem)
		}
	}
	return files, problems
}

// Check reads the files at these paths and below these folders, with a warning for each model that
// the configuration has not. A path that is not there is an error.
func Check(ctx context.Context, cfg *config.Config, paths []string) (files []*File, err error) {
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			return nil, sdk.Errorf(sdk.NotFound, "%w; name a Markdown file or a folder that is there", err)
		}
		if !info.IsDir() {
			files = append(files, Read(path).checked(cfg))
			continue
		}
		err = filepath.WalkDir(path+string(filepath.Separator), func(p string, e fs.DirEntry, err error) error {
			switch {
			case err != nil:
				files = append(files, unread(filepath.Clean(p), frontmatter.Unopened(err)))
			case e.IsDir() && (e.Name() == ".git" || e.Name() == "node_modules"):
				return fs.SkipDir
			case !e.IsDir() && isAgent(e.Name()):
				files = append(files, Read(filepath.Clean(p)).checked(cfg))
			}
			return ctx.Err()
		})
		if err != nil {
			return nil, err
		}
	}
	return files, ctx.Err()
}

// checked is the file with what a configuration says of it.
func (x *File) checked(cfg *config.Config) *File {
	if _, unknown := x.model(cfg.HasModel); unknown != "" {
		x.Diagnostics = append(x.Diagnostics, *frontmatter.Warning("model-unknown", x.modelLine, 1, "there is no model "+frontmatter.Show(unknown)+" in the configuration, so that the agent has the prompt's",
			"Write inherit, or one that `bothy models` lists."))
		slices.SortStableFunc(x.Diagnostics, func(a, b frontmatter.Diagnostic) int { return cmp.Compare(a.Line, b.Line) })
	}
	return x
}

// Names are those of the user's agents that stand in files which can be used, by the settings of a configuration.
func Names(cfg *config.Config) (names []string) {
	files, _ := Look(cfg, "") // what cannot be looked at has none
	for _, x := range files {
		if x.Loaded && !x.Off {
			names = append(names, x.Agent.Name)
		}
	}
	return names
}
