package rpc

import "github.com/bothyd/bothy/sdk"

// ProjectParams is the parameters of getConstraints and project/scan.
type ProjectParams struct {
	Project string `json:"project" access:"project" jsonschema:"absolute path of the project"`
}

// Constraints answers getConstraints: those of a project's files, in the order in which they were set. Of those that fit a
// file the last one counts.
type Constraints struct {
	Constraints []sdk.FileConstraint `json:"constraints"`
}

// Constrain is the parameters of project/constrain.
type Constrain struct {
	Project    string         `json:"project" access:"project" jsonschema:"absolute path of the project"`
	Pattern    string         `json:"pattern" access:"free" jsonschema:"of files or folders from the project's folder on, as vendor or src/**/*.gen.go"`
	Constraint sdk.Constraint `json:"constraint,omitempty" access:"free" jsonschema:"add, readonly or ignore; absent takes away what was set for the pattern"`
}

// ProjectScan answers project/scan and project/constrain.
type ProjectScan struct {
	Project string `json:"project"`
	sdk.Scanned
}

// TreeParams is the parameters of project/tree.
type TreeParams struct {
	Project string `json:"project" access:"project" jsonschema:"absolute path of the project"`
	Pattern string `json:"pattern,omitempty" access:"free" jsonschema:"which paths; all when absent"`
	Limit   int    `json:"limit,omitempty" access:"free" jsonschema:"at most so many, 100 when absent"`
	Offset  int    `json:"offset,omitempty" access:"free" jsonschema:"so many are left out first"`
}

// Tree answers project/tree: the files of a project that are entries, by path, as the last scan found them.
type Tree struct {
	Files []TreeFile `json:"files"`
	Found int        `json:"found"`          // how many fit
	Next  int        `json:"next,omitempty"` // the offset of the next page; 0 when this is the last
}

// TreeFile is one file of a Tree.
type TreeFile struct {
	sdk.ProjectFile
	Constraint sdk.Constraint `json:"constraint,omitempty"` // by which it is one, or is not written
}
