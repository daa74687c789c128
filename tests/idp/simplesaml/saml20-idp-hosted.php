<?php
$options = require __DIR__ . '/options.php';
$metadata[$options['address'] . 'saml2/idp/metadata.php'] = $options['idp'] + [
    'host' => '__DEFAULT__',
    'auth' => 'people',
    'signature.algorithm' => 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256',
    'authproc' => [
        1 => $options['name_id'],
        2 => ['class' => 'core:PHP', 'code' => '$state["AuthnInstant"] = time() - ' . $options['asked_seconds_ago'] . ';'],
    ],
];
