// Browsers load no modules from a disk: this page says so, and where the page is that opens from there.
if (location.protocol === "file:") {
  document.getElementById("answer").textContent = "A browser does not load this page from a disk. Open offline.html beside it, or serve this folder: python3 -m http.server";
}
