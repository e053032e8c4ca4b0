package member

import "vayu/schema"

// Identity is the reply to GET /v1/sessions/current: the identity of the caller.
type Identity struct {
	Status string       `json:"status"`
	Data   IdentityData `json:"data"`
}

// IdentityData is the caller's account, key and session. Session is nil if the caller authenticated with a key.
type IdentityData struct {
	Account IdentityAccount `json:"account"`
	Mode    string          `json:"mode"` // live or sandbox
	Key     IdentityKey     `json:"key"`
	Session *schema.Session `json:"session"`
	Member  *IdentityMember `json:"member"` // nil unless a person has signed in with a link
}

// IdentityMember is the person who has signed in.
type IdentityMember struct {
	ID    string `json:"id"`
	Email string `json:"email"`
	Role  string `json:"role"`
}

// IdentityAccount has the public data of an account.
type IdentityAccount struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Plan string `json:"plan"`
}

// IdentityKey has the public data of a key, with the key's permissions.
type IdentityKey struct {
	ID       string         `json:"id"`
	Name     string         `json:"name"`
	LastFour string         `json:"last_four"`
	Scopes   []schema.Scope `json:"scopes"`
}
