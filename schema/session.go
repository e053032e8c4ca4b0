package schema

// Session is a browser that is signed in with a key. Times are RFC 3339 in UTC,
// with seconds.
type Session struct {
	ID        string `json:"id"`
	KeyID     string `json:"key_id"`
	CreatedAt string `json:"created_at"`
	ExpiresAt string `json:"expires_at"`
	Client    string `json:"client"`  // IP address that signed in
	Agent     string `json:"agent"`   // what the browser calls itself
	Current   bool   `json:"current"` // whether it is the one that asks
}

// SessionShown is the reply about one session: the one that was made, or ended.
type SessionShown struct {
	Status string  `json:"status"`
	Data   Session `json:"data"`
}

// SessionsEnded is the reply of DELETE /v1/sessions.
type SessionsEnded struct {
	Status string `json:"status"`
	Ended  int    `json:"ended"` // how many there were
}

// Identity is the reply of GET /v1/sessions/current: whom the call speaks for.
type Identity struct {
	Status string       `json:"status"`
	Data   IdentityData `json:"data"`
}

// IdentityData is an account, one of its keys, and the session that acts for it;
// nil when the key itself asks.
type IdentityData struct {
	Account IdentityAccount `json:"account"`
	Mode    string          `json:"mode"` // live or sandbox
	Key     IdentityKey     `json:"key"`
	Session *Session        `json:"session"`
}

// IdentityAccount is what people know an account by.
type IdentityAccount struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Plan string `json:"plan"`
}

// IdentityKey is what people know a key by, and what it may do.
type IdentityKey struct {
	ID       string  `json:"id"`
	Name     string  `json:"name"`
	LastFour string  `json:"last_four"`
	Scopes   []Scope `json:"scopes"`
}
