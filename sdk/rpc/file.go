package rpc

import "github.com/bothyd/bothy/sdk"

// FilesParams is the parameters of project/files.
type FilesParams struct {
	Project string `json:"project" access:"project" jsonschema:"absolute path of the project"`
	Query   string `json:"query,omitempty" access:"free" jsonschema:"characters of the path in this order, whatever their case; all files when absent"`
	Limit   int    `json:"limit,omitempty" access:"free" jsonschema:"at most so many, 100 when absent"`
}

// Files answers project/files: paths of files, relative to the project, the best
// first. What holds secrets by its name, what git ignores and links are not among them.
type Files struct {
	Project string   `json:"project"`
	Files   []string `json:"files"`
	Found   int      `json:"found"`             // how many fit
	Partial bool     `json:"partial,omitempty"` // the project has more files than are looked at
}

// FileParams is the parameters of project/read.
type FileParams struct {
	Project string `json:"project" access:"project" jsonschema:"absolute path of the project"`
	Path    string `json:"path" access:"free" jsonschema:"the file's path, relative to the project"`
	From    int    `json:"from,omitempty" access:"free" jsonschema:"the first line, counted from 1; the file's first when absent"`
	To      int    `json:"to,omitempty" access:"free" jsonschema:"the last line; the file's last when absent"`
}

// FileText answers project/read: the lines as a prompt with this attachment would have
// them.
type FileText struct {
	Path   string      `json:"path"`
	From   int         `json:"from"`
	To     int         `json:"to"`    // the last line that Text has
	Lines  int         `json:"lines"` // that the file has, as far as it was read
	Text   string      `json:"text"`
	Medium *sdk.Medium `json:"medium,omitempty"` // of a picture what it is, without its data, in the place of a text
	Cut    bool        `json:"cut,omitempty"`    // some of it is left out, for a prompt has at most 256 KiB of a file
}
