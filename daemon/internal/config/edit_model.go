package config

import "github.com/bothyd/bothy/sdk"

// ModelEdit is a model block that is new. What is empty is left out.
type ModelEdit struct {
	Alias    string
	Provider string `hcl:"provider"`
	Name     string `hcl:"name,optional"`
	Context  int    `hcl:"context,optional"`
}

// Text is the block as it is written.
func (e ModelEdit) Text() string { return blockText("model", e.Alias, attributesOf(e)) }

// AddModel writes a model block into the file at path, behind all that is there. A name that a
// block has already is an error of outcome conflict.
func AddModel(path string, e ModelEdit) error {
	_, err := putBlock(path, "model", e.Alias, attributesOf(e), true)
	return err
}

// RemoveModel takes the model block of a name out of the file at path, and what it says besides with it;
// comments around it stay. One that is not there is an error of outcome not_found, and one that the
// configuration names elsewhere, which could not be used then, of outcome conflict.
func (c *Config) RemoveModel(path, alias string) error {
	if err := CheckLabel("model", alias); err != nil {
		return err
	}
	if by := c.namesModel(alias); by != "" {
		return sdk.Errorf(sdk.Conflict, "%s names the model %s, and could not be used without its block: change that first", by, alias)
	}
	was, err := RemoveBlock(path, "model", alias)
	if err == nil && !was {
		err = sdk.Errorf(sdk.NotFound, "%s has no block of a model %q: `bothy models` shows those that providers list, which have none", path, alias)
	}
	return err
}

// namesModel is what names a model by its alias; "" when nothing does.
func (c *Config) namesModel(alias string) string {
	for name, a := range c.Agents {
		if a.Model == alias {
			return "the agent " + name
		}
	}
	for _, m := range c.Models {
		for _, name := range m.Fallback {
			if name == alias {
				return "fallback of the model " + m.Alias
			}
		}
	}
	if c.Workspace.Model == alias {
		return "the block workspace"
	}
	return ""
}
