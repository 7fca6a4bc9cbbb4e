package config

import "slices"

// LearnSecrets looks up every secret that a file names, so that its value is
// redacted from now on, also while the plugin that uses it has not been started
// yet. One that is not set is left for the moment when it is used.
func (c *Config) LearnSecrets() {
	names := secretNames(c.Files, c.Context)
	for _, p := range slices.Concat(c.Plugins, c.Providers) {
		names = append(names, p.Secrets...)
	}
	for _, name := range names {
		_, _ = c.Secret(name) // who uses it is told that it is not set
	}
}
