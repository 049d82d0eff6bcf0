"""How the failure modes are told apart: labelled claims, and the fit of the small model that ships."""
