package schema

// Session is a browser session of an API key. Times are RFC 3339 in UTC, in whole seconds.
type Session struct {
	ID        string `json:"id"`
	KeyID     string `json:"key_id"`
	CreatedAt string `json:"created_at"`
	ExpiresAt string `json:"expires_at"`
	Client    string `json:"client"`  // IP address of the login
	Agent     string `json:"agent"`   // User-Agent of the browser
	Current   bool   `json:"current"` // the caller uses this session
	// OtherKeyID is the id of the key of the other mode, to which the session can switch, or nil if there is none.
	OtherKeyID *string `json:"other_key_id"`
}

// SessionReply is the reply to a request that creates or ends a session.
type SessionReply struct {
	Status string  `json:"status"`
	Data   Session `json:"data"`
}

// SessionsEnded is the reply to DELETE /v1/sessions.
type SessionsEnded struct {
	Status string `json:"status"`
	Ended  int    `json:"ended"` // number of ended sessions
}
