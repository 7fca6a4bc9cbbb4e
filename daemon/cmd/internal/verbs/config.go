package verbs

// ConfigInit writes a first configuration.
type ConfigInit struct {
	Force bool `help:"Write it although there is one; that one is kept beside it, with the date in its name."`
}
