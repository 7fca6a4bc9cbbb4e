package sandbox

// BeforeMount sets what is called between the look at what a container mounts
// and its making.
func (m *Manager) BeforeMount(f func()) { m.beforeMount = f }
