package verbs

// Restore puts a backup in the place of the database.
type Restore struct {
	File string `arg:"" complete:"file" help:"The backup to restore."`
}

// Help adds to the help of the verb.
func (Restore) Help() string {
	return "The daemon must be stopped (`bothy stop`). FILE is verified first; the present database is kept aside under a dated name, never deleted."
}
