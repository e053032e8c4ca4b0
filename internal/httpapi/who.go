package httpapi

// Who is who has made a call, for the audit log: id of the key, id of the request, and
// address of the client.
type Who struct{ Key, Request, Client string }

// Who is who makes the call.
func (c *Call) Who() Who {
	who := Who{Key: c.Key, Request: c.ID}
	if c.Client.IsValid() {
		who.Client = c.Client.String()
	}
	return who
}
