package schema

// Owner is the account that owns something, with its world.
type Owner struct {
	Account string // id
	World   World
}
