package schema

// Owner is an account in one of the worlds: whose something is.
type Owner struct {
	Account string // id
	World   World
}
