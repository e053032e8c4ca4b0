package schema

// Owner is the account and the world (live or sandbox) that something belongs to.
type Owner struct {
	Account string // id
	World   World
}
