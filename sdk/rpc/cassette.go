package rpc

// CassetteOf is the parameters of prompts/cassette.
type CassetteOf struct {
	Run     string `json:"run" access:"run" jsonschema:"the run's alias in the project, or its id"`
	Project string `json:"project,omitempty" access:"project" jsonschema:"absolute path of the project; not needed with an id"`
	Prompt  int    `json:"prompt" access:"free" jsonschema:"the prompt's number in the run, from 1 on"`
	Offset  int64  `json:"offset,omitempty" access:"free" jsonschema:"the first byte of the piece"`
}

// CassettePiece answers prompts/cassette: the text of a cassette from the offset on, at most
// 1 MiB of it. There is more while Next does not reach Size.
type CassettePiece struct {
	Run    string `json:"run"`
	ID     int64  `json:"id"`
	Prompt int    `json:"prompt"`
	Size   int64  `json:"size"` // of the whole, in bytes
	Next   int64  `json:"next"` // the offset behind the piece; what a secret was taken out of is as long as something else
	Text   string `json:"text"`
}
