package rpc

// BackupParams is the parameters of store/backup.
type BackupParams struct {
	File  string `json:"file,omitempty" access:"free" jsonschema:"absolute path of the backup; a dated name in the data directory when absent"`
	Force bool   `json:"force,omitempty" access:"free" jsonschema:"overwrite a file that is there"`
}

// BackupDone answers store/backup: the backup is durable, and was verified as a
// whole.
type BackupDone struct {
	File  string `json:"file"`
	Bytes int64  `json:"bytes"`
	Seq   int64  `json:"seq"` // the journal's position in it
	Runs  int64  `json:"runs"`
}

// BackupProgress is the notification store/progress. It comes to the connection
// that asked for a backup, ahead of the answer, and only when the backup takes
// a while.
type BackupProgress struct {
	Done  int64 `json:"done"` // bytes that are copied
	Total int64 `json:"total"`
}
