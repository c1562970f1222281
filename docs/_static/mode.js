// The theme follows the system unless somebody chose otherwise; without a word for
// that it complains on every page.
document.documentElement.dataset.mode ||= "auto";
