package answer

import (
	"context"
	"path/filepath"
	"slices"
	"testing"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

func TestSkillsCreate(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", dir)
	ctx := context.Background()
	made, err := (&Answers{}).Create(ctx, rpc.SkillCreate{Name: "notes", Description: "a: b"})
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(dir, "bothy", "skills", "notes")
	if made.Folder != folder || !slices.Equal(made.Files, []string{filepath.Join(folder, "SKILL.md")}) {
		t.Errorf("made %+v", made)
	}
	if _, err := (&Answers{}).Create(ctx, rpc.SkillCreate{Name: "notes"}); sdk.OutcomeOf(err) != sdk.Conflict {
		t.Errorf("a second time: %v", err)
	}
	if _, err := (&Answers{}).Create(ctx, rpc.SkillCreate{Name: "Bad-Name"}); sdk.OutcomeOf(err) != sdk.Validation {
		t.Errorf("a bad name: %v", err)
	}
}
