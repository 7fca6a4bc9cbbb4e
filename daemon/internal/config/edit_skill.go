package config

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/bothyd/bothy/sdk"
)

// SetSkill writes enabled into the skill block of a name, in the file at path,
// and reports whether that changed the file. A block that is not there is put at
// the end; a file that is not there is made. Everything else stays byte for
// byte. A file that cannot be parsed is refused and left alone.
//
// The file is exchanged whole, or not at all, where it lies when path is a
// link. Two calls at once must be kept apart by the caller; what an editor saves
// meanwhile is not lost.
func SetSkill(path, name string, enabled bool) (bool, error) {
	if why := SkillNameMistake(name); why != "" {
		return false, sdk.Errorf(sdk.Validation, "a skill block cannot be named %q: %s", name, why)
	}
	return edit(path, func(text []byte) ([]byte, error) { return setSkill(text, path, name, enabled) })
}

// UnsetSkill takes the skill block of a name out of the file at path, and reports whether
// it did: only one that is as SetSkill writes it, with nothing of a person's in it.
func UnsetSkill(path, name string) (bool, error) {
	return edit(path, func(text []byte) ([]byte, error) { return unsetSkill(text, path, name) })
}

// enabledIs is what a skill block says.
func enabledIs(enabled bool) (says attributes) {
	says.add("enabled", true, cty.BoolVal(enabled))
	return says
}

// setSkill is the text with one skill block edited.
func setSkill(text []byte, path, name string, enabled bool) ([]byte, error) {
	return setBlock(text, path, "skill", name, enabledIs(enabled), fmt.Sprintf("put enabled = %v into it", enabled))
}

// unsetSkill is the text without one skill block, where that only says enabled.
func unsetSkill(text []byte, path, name string) ([]byte, error) {
	block, err := findBlock(text, path, "skill", name)
	if err != nil || block == nil {
		return text, err
	}
	for _, enabled := range []bool{true, false} {
		written := strings.ReplaceAll(blockText("skill", block.Labels[0], enabledIs(enabled)), "\n", lineEnd(text))
		if bytes.HasPrefix(text[block.Range().Start.Byte:], []byte(written)) {
			return removeBlock(text, path, "skill", name)
		}
	}
	return text, nil
}
